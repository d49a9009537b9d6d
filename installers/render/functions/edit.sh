edit() { # FILE SECTION KEY VALUE [once]: without a KEY, VALUE is a line to add; the other lines stay
  local file
  file=$(readlink -m -- "$1")
  if [ ! -e "$file" ]; then file=/dev/null; fi
  section=$2 key=$3 value=$4 once=${5-} awk '
    function head(row) { return row ~ /^[ \t]*\[[^\]]*\][ \t]*([#;].*)?$/ }
    function name(row) { sub(/^[ \t]*\[/, "", row); sub(/\].*/, "", row); return row }
    function is_key(row) {
      if (key == "" || !match(row, /[=:]/)) return 0
      row = tolower(substr(row, 1, RSTART - 1)); gsub(/^[ \t]+|[ \t]+$/, "", row)
      return row == tolower(key)
    }
    function drop(at) { # the indented lines that go on with a value
      if (row[at] ~ /^[ \t]/) return
      for (at++; at < stop && row[at] ~ /^[ \t]+[^ \t]/; at++) gone[at] = 1
    }
    BEGIN { section = ENVIRON["section"]; key = ENVIRON["key"]; value = ENVIRON["value"]; once = ENVIRON["once"] }
    { if (sub(/\r$/, "")) end = "\r"; row[NR] = $0 }
    END {
      begin = section == "" ? 1 : 0; stop = NR + 1
      for (i = 1; i <= NR; i++) if (head(row[i])) {
        if (begin) { stop = i; break }
        if (name(row[i]) == section) begin = i + 1
      }
      count = NR
      if (!begin) {
        if (count) row[++count] = ""
        row[++count] = "[" section "]"; begin = stop = count + 1
      }
      line = key == "" ? value : key " = " value
      for (i = begin; i < stop; i++) if (key == "" ? row[i] == line : is_key(row[i])) {
        if (last && once) { gone[last] = 1; drop(last) }
        last = i
      }
      if (last && key != "") {
        drop(last)
        match(row[last], /^[ \t]*/)
        row[last] = substr(row[last], 1, RLENGTH) line
      }
      for (at = stop; at > begin && row[at - 1] !~ /[^ \t]/; at--);
      for (i = 1; i <= count; i++) {
        if (!last && i == at) print line end
        if (!(i in gone)) print row[i] end
      }
      if (!last && at > count) print line end
    }' "$file" | write "$1"
}
