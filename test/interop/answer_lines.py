"""Answers each line of JSON on standard input with one on standard output."""
import json
import sys
import traceback


def answer_lines(operations):
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": operations[question.pop("do")](**question)}
        except Exception:  # whatever it is, the other side shows it
            answer = {"error": traceback.format_exc()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
