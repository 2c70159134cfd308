"""A bot that answers PASS, and misbehaves at one question: ``bot.py [KIND QUESTION [ARGUMENT]]``.

Questions count from 0, the first one being about the deck. `KIND` is a function below. Each process
leaves a file named by its id in the folder LOCMSIM_TEST_PIDS, if that is set. Runs without the site
module (``python -S -E``), which makes the start fast, and imports only at its question what most
kinds do without.
"""

import os
import sys
import time

STDIN, STDOUT, STDERR = 0, 1, 2
FOREVER = 600


def read_question():
    """Read one input; exit at its end."""
    lines = [next_line() for _ in range(3)]
    lines += [next_line() for _ in range(int(lines[2].split()[1]))]
    lines.append(next_line())
    return lines + [next_line() for _ in range(int(lines[-1]))]


def next_line():
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    return line


def write(data):
    while data:
        data = data[os.write(STDOUT, data) :]


def sign_in(text=""):
    if folder := os.environ.get("LOCMSIM_TEST_PIDS"):
        with open(os.path.join(folder, str(os.getpid())), "w") as file:
            file.write(text)


def fork(*, session=False, orphan=False):
    """Start a sleeping child, in its own session or left to init; wait until it has signed in."""
    import signal

    ready, child_end = os.pipe()
    if os.fork() == 0:
        if session:
            os.setsid()
        if orphan and os.fork():
            os._exit(0)
        os.close(ready)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sign_in()
        os.close(child_end)
        return True
    os.close(child_end)
    os.read(ready, 1)
    os.close(ready)
    return False


# ---------------------------------------------------------------------------------- the kinds


def say(argument):
    """Write exactly these bytes instead of an answer."""
    write(argument.encode().decode("unicode_escape").encode("latin-1"))


def say_each(argument):
    """Write the parts of this, divided by |, instead of this answer and the next ones."""
    first, *rest = argument.split("|")
    say(first)
    for one in rest:
        read_question()
        say(one)


def say_error(argument):
    """Write these bytes to the standard error, then the answer."""
    sys.stderr.buffer.write(argument.encode().decode("unicode_escape").encode("latin-1"))
    sys.stderr.buffer.flush()
    write(b"PASS\n")


def hang(argument):
    time.sleep(FOREVER)


def stubborn(argument):
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sign_in("stubborn")
    time.sleep(FOREVER)


def leave(argument):
    os.write(STDERR, b"leaving with " + argument.encode() + b"\n")
    os._exit(int(argument))


def crash(argument):
    raise RuntimeError("no idea what to play")


def die(argument):
    os.kill(os.getpid(), int(argument))


def flood(argument):
    while True:
        write(argument.encode().decode("unicode_escape").encode("latin-1") * 65536)


def chatter(argument):
    """Print this many bytes to the standard error, then answer; print as many afterwards."""
    text = b"thinking...\n" * (int(argument) // 12)
    sys.stderr.buffer.write(text)
    write(b"PASS\n")
    sys.stderr.buffer.write(text)


def babble(argument):
    """Print to the standard error forever."""
    while True:
        os.write(STDERR, b"thinking...\n" * 5000)


def babbling_child(argument):
    if fork():
        babble(argument)
    write(b"PASS\n")


def close_input(argument):
    os.close(STDIN)
    write(b"PASS\n")
    time.sleep(FOREVER)


def close_output(argument):
    os.close(STDOUT)
    time.sleep(FOREVER)


def late_end(argument):
    """Write a line end in two parts, the second when the next question may have come."""
    write(b"PASS\r")
    time.sleep(0.02)
    write(b"\n")


def children(argument):
    """Start a child, a child in its own session and a daemon; all ignore SIGTERM."""
    for how in ({}, {"session": True}, {"session": True, "orphan": True}):
        if fork(**how):
            time.sleep(FOREVER)
    write(b"PASS\n")


def stranger(argument):
    """Start a child in its own process group without its environment."""
    if fork():
        os.setpgid(0, 0)
        os.execve("/bin/sleep", ["sleep", str(FOREVER)], {})
    write(b"PASS\n")


def heir(argument):
    """Leave the pipes to a child, and exit."""
    if fork():
        time.sleep(FOREVER)
    os._exit(3)


def where(argument):
    """Write down the processors that it may use."""
    sign_in(" ".join(map(str, os.sched_getaffinity(0))))
    write(b"PASS\n")


def slow(argument):
    time.sleep(float(argument))
    write(b"PASS\n")


def work():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass


def burn(argument):
    """Use 0.3 s of processor time in a child or a thread, then answer."""
    import threading

    if argument == "thread":
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    elif os.fork() == 0:
        work()
        os._exit(0)
    else:
        os.wait()
    write(b"PASS\n")


def eat(argument):
    """Let a child touch or only reserve memory in MB for a moment, then answer."""
    import mmap

    size, how = argument.split()
    if os.fork() == 0:
        memory = mmap.mmap(-1, int(size) << 20)
        if how == "touched":
            memory[:: mmap.PAGESIZE] = bytes(len(memory) // mmap.PAGESIZE)
        time.sleep(0.5)
        os._exit(0)
    os.wait()
    write(b"PASS\n")


def early(argument):
    """Answer before reading the question."""
    write(b"PASS\n")
    read_question()


def play(kind, at, argument):
    question = 0
    while True:
        if question != at or kind is not early:
            read_question()
        if question == at:
            kind(argument)
        else:
            write(b"PASS\n")
        question += 1


def main():
    sign_in()
    kind, at, argument = (*sys.argv[1:], "", "", "")[:3]
    play(globals()[kind] if kind else None, int(at or -1), argument)


if __name__ == "__main__":
    main()
