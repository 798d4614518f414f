"""The thread pool of parallel loops, and the GIL of long calls, as LLVM text: see `memory`, which puts it together.

    pb.parallel(context, function, record, blocks, products) -> status
        function(context, record, b) for b = 0 .. blocks - 1, each once, on as many threads as there are to be
    pb.hold(context), pb.release_gil(context)      take the GIL back, if this call has given it away; give it away

Blocks are handed out in order.  The status is that of the lowest block that failed, whose site and payload are then the
context's; blocks above it need not have run, all below it have.  Worker threads spin for a moment between two loops and
then sleep; they hold no GIL and call nothing of Python.  A loop inside of a block, and one that begins while another
thread's runs, is done by the calling thread alone.  After a fork the pool begins anew.

pb.threads counts the threads in compiled code besides the one that holds the GIL: while it is 0, plain additions do for
counts that all share.
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.codegen.support_stacks import system

__all__ = ["BUMP", "DECLARATIONS", "FORK", "HOLD", "LOCKS", "STACK", "STOP", "THREADS", "pool"]

_SPINS, _WAITS = 2000, 2000  # pauses before a worker sleeps, and before the caller lets others have its processor
STACK = 256 << 20  # bytes of address space of a worker's stack
_FAILURE = abi.LIST  # the context up to there tells which check failed
_MOST = 256  # threads

DECLARATIONS = {
    "pthread_create": "declare i32 @pthread_create(ptr, ptr, ptr, ptr) nounwind",
    "pthread_attr_init": "declare i32 @pthread_attr_init(ptr) nounwind",
    "pthread_attr_setstacksize": "declare i32 @pthread_attr_setstacksize(ptr, i64) nounwind",
    "pthread_attr_setdetachstate": "declare i32 @pthread_attr_setdetachstate(ptr, i32) nounwind",
    "pthread_sigmask": "declare i32 @pthread_sigmask(i32, ptr, ptr) nounwind",
    "pthread_mutex_init": "declare i32 @pthread_mutex_init(ptr, ptr) nounwind",
    "pthread_mutex_lock": "declare i32 @pthread_mutex_lock(ptr) nounwind",
    "pthread_mutex_unlock": "declare i32 @pthread_mutex_unlock(ptr) nounwind",
    "pthread_cond_init": "declare i32 @pthread_cond_init(ptr, ptr) nounwind",
    "pthread_cond_wait": "declare i32 @pthread_cond_wait(ptr, ptr) nounwind",
    "pthread_cond_broadcast": "declare i32 @pthread_cond_broadcast(ptr) nounwind",
    "getpid": "declare i32 @getpid() nounwind",
    "nanosleep": "declare i32 @nanosleep(ptr, ptr) nounwind",
    "llvm.stacksave.p0": "declare ptr @llvm.stacksave.p0()",
    "llvm.x86.sse2.pause": "declare void @llvm.x86.sse2.pause()",
    "llvm.aarch64.hint": "declare void @llvm.aarch64.hint(i32)",
}

THREADS = "@pb.threads = global i64 0\n"
STOP = "@pb.loop.stop = global i32 0\n"

# Counts that all threads share, and locks that are taken only while there are others.
BUMP = """
define internal void @pb.bump(ptr %cell, i64 %amount) alwaysinline nounwind {
  %others = load atomic i64, ptr @pb.threads monotonic, align 8
  %alone = icmp eq i64 %others, 0
  br i1 %alone, label %plain, label %shared
plain:
  %before = load i64, ptr %cell
  %after = add i64 %before, %amount
  store i64 %after, ptr %cell
  ret void
shared:
  %ignored = atomicrmw add ptr %cell, i64 %amount monotonic
  ret void
}

"""

LOCKS = """
@pb.lists = internal global i32 0

define internal i1 @pb.lock_lists() alwaysinline nounwind {
  %others = load atomic i64, ptr @pb.threads monotonic, align 8
  %alone = icmp eq i64 %others, 0
  br i1 %alone, label %no, label %try
try:
  %held = atomicrmw xchg ptr @pb.lists, i32 1 acquire
  %busy = icmp ne i32 %held, 0
  br i1 %busy, label %try, label %yes
no:
  ret i1 false
yes:
  ret i1 true
}

define internal void @pb.unlock_lists(i1 %locked) alwaysinline nounwind {
  br i1 %locked, label %yes, label %no
yes:
  store atomic i32 0, ptr @pb.lists release, align 4
  ret void
no:
  ret void
}
"""

FORK = """
; around a fork: 0 before it (no lock may be held by a thread that the child does not have), 1 after it, 2 in the child
define internal void @pb.fork(i32 %when) nounwind {
entry:
  %before = icmp eq i32 %when, 0
  br i1 %before, label %take, label %give
take:
  call void @pb.acquire()
  br label %try
try:
  %held = atomicrmw xchg ptr @pb.lists, i32 1 acquire
  %busy = icmp ne i32 %held, 0
  br i1 %busy, label %try, label %out
give:
  store atomic i32 0, ptr @pb.lists release, align 4
  store atomic i32 0, ptr @pb.lock release, align 4
  %child = icmp eq i32 %when, 2
  br i1 %child, label %anew, label %out
anew:
  store i64 0, ptr @pb.threads
  br label %out
out:
  ret void
}
"""

HOLD = f"""
define internal void @pb.hold(ptr %context) noinline nounwind {{
  %place = getelementptr i8, ptr %context, i64 {abi.THREAD}
  %thread = load ptr, ptr %place
  %held = icmp eq ptr %thread, null
  br i1 %held, label %out, label %take
take:
  call void @PyEval_RestoreThread(ptr %thread)
  store ptr null, ptr %place
  %ignored = atomicrmw sub ptr @pb.threads, i64 1 seq_cst
  br label %out
out:
  ret void
}}

define internal void @pb.release_gil(ptr %context) noinline nounwind {{
  %ignored = atomicrmw add ptr @pb.threads, i64 1 seq_cst
  %thread = call ptr @PyEval_SaveThread()
  %place = getelementptr i8, ptr %context, i64 {abi.THREAD}
  store ptr %thread, ptr %place
  ret void
}}
"""

_SERIAL = """
define internal i32 @pb.serial(ptr %context, ptr %function, ptr %record, i64 %blocks) nounwind {
entry:
  br label %head
head:
  %b = phi i64 [ 0, %entry ], [ %b1, %fine ]
  %more = icmp slt i64 %b, %blocks
  br i1 %more, label %run, label %done
run:
  %result = call {i32} %function(ptr %context, ptr %record, i64 %b)
  %status = extractvalue {i32} %result, 0
  %good = icmp eq i32 %status, 0
  br i1 %good, label %fine, label %bad
fine:
  %b1 = add i64 %b, 1
  br label %head
bad:
  ret i32 %status
done:
  ret i32 0
}
"""


def _pause(triple: str) -> str:
    architecture = triple.split("-")[0]
    if architecture == "x86_64":
        return "  call void @llvm.x86.sse2.pause()\n"
    return "  call void @llvm.aarch64.hint(i32 1)\n" if architecture in ("aarch64", "arm64") else ""


def pool(triple: str) -> str:
    """pb.parallel for a system; where there are no POSIX threads the caller runs all blocks."""
    if system(triple) == "windows":
        return _SERIAL + """
define internal i32 @pb.parallel(ptr %context, ptr %function, ptr %record, i64 %blocks, i1 %products) nounwind {
  %status = call i32 @pb.serial(ptr %context, ptr %function, ptr %record, i64 %blocks)
  ret i32 %status
}
"""
    detached = 2 if system(triple) == "darwin" else 1
    block_signals, restore_signals = (1, 3) if system(triple) == "darwin" else (0, 2)
    pause = _pause(triple)
    return _SERIAL + f"""
@pb.pool.pid = internal global i32 0
@pb.pool.made = internal global i64 0
@pb.pool.ticket = internal global i64 0
@pb.pool.open = internal global i64 0
@pb.pool.inside = internal global i64 0, align 64
@pb.pool.sleepers = internal global i64 0
@pb.pool.busy = internal global i32 0
@pb.pool.mutex = internal global [16 x i64] zeroinitializer, align 64
@pb.pool.wake = internal global [16 x i64] zeroinitializer, align 64
@pb.loop.function = internal global ptr null
@pb.loop.record = internal global ptr null
@pb.loop.blocks = internal global i64 0
@pb.loop.parent = internal global ptr null
@pb.loop.limit = internal global i64 0
@pb.loop.next = internal global i64 0, align 64
@pb.loop.best = internal global i64 0, align 64
@pb.loop.status = internal global i32 0
@pb.loop.lock = internal global i32 0
@pb.loop.failure = internal global [{_FAILURE} x i8] zeroinitializer, align 16

; notes the failure of a block, unless a lower one has failed
define internal void @pb.note(ptr %context, i64 %b, i32 %status) nounwind noinline {{
entry:
  br label %try
try:
  %held = atomicrmw xchg ptr @pb.loop.lock, i32 1 acquire
  %busy = icmp ne i32 %held, 0
  br i1 %busy, label %try, label %locked
locked:
  %best = load atomic i64, ptr @pb.loop.best monotonic, align 8
  %lower = icmp slt i64 %b, %best
  br i1 %lower, label %take, label %out
take:
  store atomic i64 %b, ptr @pb.loop.best monotonic, align 8
  store i32 %status, ptr @pb.loop.status
  call void @llvm.memcpy.p0.p0.i64(ptr @pb.loop.failure, ptr %context, i64 {_FAILURE}, i1 false)
  br label %out
out:
  store atomic i32 0, ptr @pb.loop.lock release, align 4
  ret void
}}

; takes blocks until none are left or one has failed
define internal void @pb.share(ptr %context) nounwind {{
entry:
  %function = load ptr, ptr @pb.loop.function
  %record = load ptr, ptr @pb.loop.record
  %blocks = load i64, ptr @pb.loop.blocks
  br label %head
head:
  %b = atomicrmw add ptr @pb.loop.next, i64 1 acq_rel
  %best = load atomic i64, ptr @pb.loop.best monotonic, align 8
  %end = call i64 @llvm.smin.i64(i64 %blocks, i64 %best)
  %more = icmp slt i64 %b, %end
  br i1 %more, label %run, label %out
run:
  %stopped = load atomic i32, ptr @pb.loop.stop monotonic, align 4
  %go = icmp eq i32 %stopped, 0
  br i1 %go, label %call, label %out
call:
  %result = call {{i32}} %function(ptr %context, ptr %record, i64 %b)
  %status = extractvalue {{i32}} %result, 0
  %good = icmp eq i32 %status, 0
  br i1 %good, label %head, label %bad
bad:
  %raised = icmp eq i32 %status, {abi.EXCEPTION}
  br i1 %raised, label %stop, label %failed
stop:
  store atomic i32 1, ptr @pb.loop.stop seq_cst, align 4
  ret void
failed:
  call void @pb.note(ptr %context, i64 %b, i32 %status)
  ret void
out:
  ret void
}}

; what a worker has allocated and counted becomes the caller's
define internal void @pb.splice(ptr %context, ptr %parent) nounwind {{
entry:
  %locked = call i1 @pb.lock_lists()
  %counts0 = getelementptr i8, ptr %context, i64 {abi.ALLOCATED}
  %allocated = load i64, ptr %counts0
  %to0 = getelementptr i8, ptr %parent, i64 {abi.ALLOCATED}
  call void @pb.bump(ptr %to0, i64 %allocated)
  %counts1 = getelementptr i8, ptr %context, i64 {abi.ALLOCATIONS}
  %allocations = load i64, ptr %counts1
  %to1 = getelementptr i8, ptr %parent, i64 {abi.ALLOCATIONS}
  call void @pb.bump(ptr %to1, i64 %allocations)
  %head = getelementptr i8, ptr %context, i64 {abi.LIST}
  %first = load ptr, ptr %head
  %none = icmp eq ptr %first, null
  br i1 %none, label %out, label %walk
walk:
  %block = phi ptr [ %first, %entry ], [ %next, %walk ]
  %link = getelementptr i8, ptr %block, i64 -32
  %next = load ptr, ptr %link
  %last = icmp eq ptr %next, null
  br i1 %last, label %join, label %walk
join:
  %list = getelementptr i8, ptr %parent, i64 {abi.LIST}
  %old = load ptr, ptr %list
  store ptr %old, ptr %link
  store ptr %first, ptr %list
  %mine = getelementptr i8, ptr %first, i64 -24
  store ptr %list, ptr %mine
  %empty = icmp eq ptr %old, null
  br i1 %empty, label %out, label %back
back:
  %theirs = getelementptr i8, ptr %old, i64 -24
  store ptr %link, ptr %theirs
  br label %out
out:
  call void @pb.unlock_lists(i1 %locked)
  ret void
}}

define internal ptr @pb.worker(ptr %number) nounwind noinline {{
entry:
  %context = alloca [{abi.CONTEXT_SIZE} x i8], align 16
  %mine = ptrtoint ptr %number to i64
  %here = call ptr @llvm.stacksave.p0()
  %limit = getelementptr i8, ptr %here, i64 {-(STACK - (1 << 20))}
  br label %wait
wait:
  %seen = phi i64 [ 0, %entry ], [ %ticket, %ran ]
  br label %spin
spin:
  %k = phi i64 [ 0, %wait ], [ %k1, %pausing ]
  %now = load atomic i64, ptr @pb.pool.ticket acquire, align 8
  %new = icmp ne i64 %now, %seen
  br i1 %new, label %join, label %look
look:
  %k1 = add i64 %k, 1
  %tired = icmp ugt i64 %k1, {_SPINS}
  br i1 %tired, label %sleep, label %pausing
pausing:
{pause}  br label %spin
sleep:
  %l0 = call i32 @pthread_mutex_lock(ptr @pb.pool.mutex)
  %s0 = load i64, ptr @pb.pool.sleepers
  %s1 = add i64 %s0, 1
  store i64 %s1, ptr @pb.pool.sleepers
  br label %asleep
asleep:
  %then = load atomic i64, ptr @pb.pool.ticket monotonic, align 8
  %same = icmp eq i64 %then, %seen
  br i1 %same, label %rest, label %awake
rest:
  %w = call i32 @pthread_cond_wait(ptr @pb.pool.wake, ptr @pb.pool.mutex)
  br label %asleep
awake:
  %s2 = load i64, ptr @pb.pool.sleepers
  %s3 = sub i64 %s2, 1
  store i64 %s3, ptr @pb.pool.sleepers
  %l1 = call i32 @pthread_mutex_unlock(ptr @pb.pool.mutex)
  br label %join
join:
  %ticket = phi i64 [ %now, %spin ], [ %then, %awake ]
  %entered = atomicrmw add ptr @pb.pool.inside, i64 1 seq_cst
  %open = load atomic i64, ptr @pb.pool.open seq_cst, align 8
  %most = load atomic i64, ptr @pb.loop.limit monotonic, align 8
  %is_open = icmp ne i64 %open, 0
  %wanted = icmp slt i64 %mine, %most
  %both = and i1 %is_open, %wanted
  br i1 %both, label %work, label %ran
work:
  call void @llvm.memset.p0.i64(ptr %context, i8 0, i64 {abi.CONTEXT_SIZE}, i1 false)
  %p0 = getelementptr i8, ptr %context, i64 {abi.REGION}
  store i64 2, ptr %p0
  %p1 = getelementptr i8, ptr %context, i64 {abi.STACK_LIMIT}
  store ptr %limit, ptr %p1
  call void @pb.share(ptr %context)
  %parent = load ptr, ptr @pb.loop.parent
  call void @pb.splice(ptr %context, ptr %parent)
  br label %ran
ran:
  %left = atomicrmw sub ptr @pb.pool.inside, i64 1 seq_cst
  br label %wait
}}

; one more worker, with all signals blocked: handlers are Python's main thread's
define internal i32 @pb.make_worker(i64 %number) nounwind noinline {{
  %attributes = alloca [16 x i64], align 16
  %thread = alloca i64
  %all = alloca [16 x i64], align 16
  %old = alloca [16 x i64], align 16
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  %a0 = call i32 @pthread_attr_init(ptr %attributes)
  %a1 = call i32 @pthread_attr_setstacksize(ptr %attributes, i64 {STACK})
  %a2 = call i32 @pthread_attr_setdetachstate(ptr %attributes, i32 {detached})
  %m0 = call i32 @pthread_sigmask(i32 {block_signals}, ptr %all, ptr %old)
  %given = inttoptr i64 %number to ptr
  %status = call i32 @pthread_create(ptr %thread, ptr %attributes, ptr @pb.worker, ptr %given)
  %m1 = call i32 @pthread_sigmask(i32 {restore_signals}, ptr %old, ptr null)
  ret i32 %status
}}

; a process that has been forked has no workers, whatever the memory says
define internal void @pb.begin_anew(i32 %pid) nounwind noinline {{
  store i64 0, ptr @pb.pool.made
  store i64 0, ptr @pb.pool.ticket
  store i64 0, ptr @pb.pool.open
  store i64 0, ptr @pb.pool.inside
  store i64 0, ptr @pb.pool.sleepers
  store i32 0, ptr @pb.pool.busy
  store i32 0, ptr @pb.loop.lock
  call void @llvm.memset.p0.i64(ptr @pb.pool.mutex, i8 0, i64 128, i1 false)
  call void @llvm.memset.p0.i64(ptr @pb.pool.wake, i8 0, i64 128, i1 false)
  %m = call i32 @pthread_mutex_init(ptr @pb.pool.mutex, ptr null)
  %c = call i32 @pthread_cond_init(ptr @pb.pool.wake, ptr null)
  store i32 %pid, ptr @pb.pool.pid
  ret void
}}

define internal i32 @pb.parallel(ptr %context, ptr %function, ptr %record, i64 %blocks, i1 %products) nounwind {{
entry:
  %time = alloca [2 x i64]
  %region = getelementptr i8, ptr %context, i64 {abi.REGION}
  %inner = load i64, ptr %region
  %outermost = icmp eq i64 %inner, 0
  %threads = load atomic i64, ptr @pb.threads_wanted monotonic, align 8
  %several = icmp sgt i64 %threads, 1
  %many = icmp sgt i64 %blocks, 1
  %c0 = and i1 %outermost, %several
  %c1 = and i1 %c0, %many
  br i1 %c1, label %system, label %serial
system:
  %pid = call i32 @getpid()
  %known = load i32, ptr @pb.pool.pid
  %same = icmp eq i32 %pid, %known
  br i1 %same, label %enter, label %anew
anew:
  call void @pb.begin_anew(i32 %pid)
  br label %enter
enter:
  %taken = atomicrmw xchg ptr @pb.pool.busy, i32 1 acquire
  %free = icmp eq i32 %taken, 0
  br i1 %free, label %ready, label %serial
ready:
  %fewer = sub i64 %threads, 1
  %limit = call i64 @llvm.smin.i64(i64 %fewer, i64 {_MOST})
  store ptr %function, ptr @pb.loop.function
  store ptr %record, ptr @pb.loop.record
  store i64 %blocks, ptr @pb.loop.blocks
  store ptr %context, ptr @pb.loop.parent
  store atomic i64 %limit, ptr @pb.loop.limit monotonic, align 8
  store atomic i64 0, ptr @pb.loop.next monotonic, align 8
  store atomic i64 {2**63 - 1}, ptr @pb.loop.best monotonic, align 8
  store atomic i32 0, ptr @pb.loop.stop monotonic, align 4
  store i64 1, ptr %region
  %others = atomicrmw add ptr @pb.threads, i64 1 seq_cst
  %get = load ptr, ptr @pb.blas_threads
  %set_at = getelementptr i8, ptr @pb.blas_threads, i64 8
  %set = load ptr, ptr %set_at
  %has_set = icmp ne ptr %set, null
  %quiet = and i1 %products, %has_set
  br i1 %quiet, label %lower, label %opening
lower:
  %count = call i32 %get()
  call void %set(i32 1)
  br label %opening
opening:
  %blas = phi i32 [ 0, %ready ], [ %count, %lower ]
  store atomic i64 1, ptr @pb.pool.open seq_cst, align 8
  br label %staff
staff:
  %made = load i64, ptr @pb.pool.made
  %short = icmp slt i64 %made, %limit
  br i1 %short, label %hire, label %call
hire:
  %refused = call i32 @pb.make_worker(i64 %made)
  %hired = icmp eq i32 %refused, 0
  br i1 %hired, label %count_it, label %call
count_it:
  %made1 = add i64 %made, 1
  store i64 %made1, ptr @pb.pool.made
  br label %staff
call:
  %l0 = call i32 @pthread_mutex_lock(ptr @pb.pool.mutex)
  %ticket0 = load i64, ptr @pb.pool.ticket
  %ticket1 = add i64 %ticket0, 1
  store atomic i64 %ticket1, ptr @pb.pool.ticket seq_cst, align 8
  %sleepers = load i64, ptr @pb.pool.sleepers
  %l1 = call i32 @pthread_mutex_unlock(ptr @pb.pool.mutex)
  %asleep = icmp sgt i64 %sleepers, 0
  br i1 %asleep, label %wake, label %work
wake:
  %w0 = call i32 @pthread_cond_broadcast(ptr @pb.pool.wake)
  br label %work
work:
  call void @pb.share(ptr %context)
  store atomic i64 0, ptr @pb.pool.open seq_cst, align 8
  br label %wait
wait:
  %k = phi i64 [ 0, %work ], [ %k1, %pausing ], [ {_WAITS}, %slept ]
  %inside = load atomic i64, ptr @pb.pool.inside seq_cst, align 8
  %done = icmp eq i64 %inside, 0
  br i1 %done, label %finish, label %patience
patience:
  %k1 = add i64 %k, 1
  %tired = icmp ugt i64 %k1, {_WAITS}
  br i1 %tired, label %sleep, label %pausing
pausing:
{pause}  br label %wait
sleep:
  store i64 0, ptr %time
  %nanoseconds = getelementptr i8, ptr %time, i64 8
  store i64 20000, ptr %nanoseconds
  %n0 = call i32 @nanosleep(ptr %time, ptr null)
  %still = call i32 @getpid()
  %mine = icmp eq i32 %still, %pid
  br i1 %mine, label %parent, label %orphan
orphan:
  ; a signal handler has forked: the workers, with the blocks they had begun, stayed in the other process
  store i64 0, ptr %region
  ret i32 {abi.NO_MEMORY}
parent:
  %left = load atomic i32, ptr @pb.loop.stop monotonic, align 4
  %stopping = icmp ne i32 %left, 0
  br i1 %stopping, label %slept, label %poll
poll:
  %polled = call i32 @pb.poll(ptr %context)
  %quit = icmp ne i32 %polled, 0
  br i1 %quit, label %stop, label %slept
stop:
  store atomic i32 1, ptr @pb.loop.stop seq_cst, align 4
  br label %slept
slept:
  br label %wait
finish:
  %o1 = atomicrmw sub ptr @pb.threads, i64 1 seq_cst
  store i64 0, ptr %region
  br i1 %quiet, label %raise, label %answer
raise:
  call void %set(i32 %blas)
  br label %answer
answer:
  %stopped = load atomic i32, ptr @pb.loop.stop monotonic, align 4
  %best = load atomic i64, ptr @pb.loop.best monotonic, align 8
  %failed = icmp ne i64 %best, {2**63 - 1}
  %kept = load i32, ptr @pb.loop.status
  %raised = icmp ne i32 %stopped, 0
  br i1 %raised, label %exception, label %look
exception:
  store atomic i32 0, ptr @pb.pool.busy release, align 4
  ret i32 {abi.EXCEPTION}
look:
  br i1 %failed, label %copy, label %fine
copy:
  call void @llvm.memcpy.p0.p0.i64(ptr %context, ptr @pb.loop.failure, i64 {_FAILURE}, i1 false)
  store atomic i32 0, ptr @pb.pool.busy release, align 4
  ret i32 %kept
fine:
  store atomic i32 0, ptr @pb.pool.busy release, align 4
  ret i32 0
serial:
  %status = call i32 @pb.serial(ptr %context, ptr %function, ptr %record, i64 %blocks)
  ret i32 %status
}}
"""
