#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/lib/json.sh"

input=$(cat)
[[ $input =~ \"count\":([0-9]+) ]] || { echo "there is no count" >&2; exit 1; }
count=${BASH_REMATCH[1]}

separator=""
printf '['
while IFS=$'\t' read -r -d '' size path; do
  printf '%s{"path":%s,"size":%s}' "$separator" "$(json_string "$path")" "$size"
  separator=","
done < <(find . -type f -printf '%s\t%P\0' | sort -z -k1,1nr -k2 | head -z -n "$count")
printf ']'
