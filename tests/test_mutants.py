"""Random programs notice faults: of 41 seeded ones at least 39 are caught by 2,000 programs."""

from __future__ import annotations

import pytest

from mutants import MUTANTS, Mutant, caught, file_of

PROGRAMS = 2000
SECONDS = 600  # for one fault; most are caught within a few
MISSED = 2


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_finds_its_place(mutant: Mutant) -> None:
    text = file_of(mutant).read_text()
    assert text.count(mutant.before) == 1, "the code has changed: say where the fault goes now"
    compile(text.replace(mutant.before, mutant.after), mutant.module, "exec")


def test_there_are_so_many_faults() -> None:
    assert len(MUTANTS) == 41
    assert len({mutant.name for mutant in MUTANTS}) == 41


@pytest.mark.slow
def test_random_programs_catch_the_faults() -> None:
    missed = []
    for mutant in MUTANTS:
        complaint = caught(mutant, PROGRAMS, SECONDS)
        print(f"{mutant.name}: {complaint or 'missed'}"[:160])
        if complaint is None:
            missed.append(mutant.name)
    assert len(missed) <= MISSED, missed
