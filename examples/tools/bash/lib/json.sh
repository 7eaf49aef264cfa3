# A text as JSON. Control characters become blanks.
json_string() {
  local text=${1//\\/\\\\}
  text=${text//\"/\\\"}
  printf '"%s"' "${text//[[:cntrl:]]/ }"
}
