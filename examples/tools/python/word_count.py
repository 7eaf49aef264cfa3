import collections
import json
import re
import sys

top = int(sys.argv[sys.argv.index("--top") + 1])
words = re.findall(r"\w+", json.load(sys.stdin)["text"].lower())
counted = collections.Counter(words)
frequent = sorted(counted, key=lambda word: (-counted[word], word))[:top]
json.dump({"words": len(words), "most_frequent": frequent}, sys.stdout)
