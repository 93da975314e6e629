"""What the drivers of the benches share: runtimes as processes under one line protocol, medians, verdicts."""

import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Runtime:
    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self.read("ready")

    def read(self, event):
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue
            answer = json.loads(line)
            if answer["event"] == "error":
                raise RuntimeError(f"{self.name}: {answer['message']}")
            if answer["event"] == event:
                return answer
        raise RuntimeError(f"{self.name}: ended with {self.process.wait()}")

    def ask(self, line, event=None):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read(event or line.split()[0])

    def close(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.wait()


def printed_path(*command):
    """The path that a script prints, or None when it says that it cannot be had."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode in (75, 77):
        return None
    done.check_returncode()
    return pathlib.Path(done.stdout.split("\n")[0].strip())


def has_bf16(build):
    doctor = subprocess.run([ROOT / build / "tenon", "doctor", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return '"bf16"' in doctor.stdout


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def verdict(name, value, bar, higher=True):
    good = value >= bar if higher else value <= bar
    print(f"  {'holds' if good else 'FALLS SHORT'}: {name}: {value:.3f} (bar {bar:.3f})")
    return good
