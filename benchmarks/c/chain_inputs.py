import numpy as np
rng = np.random.default_rng(2)
CN = 1_000_000; CA, CX, CB, CC = (rng.standard_normal(CN) for _ in range(4))
