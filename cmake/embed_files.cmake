# Script mode: writes the files named in FILES into OUTPUT as C strings (see embed.cmake).
set(body "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND body "    \"${text}\",\n")
endforeach()
file(WRITE ${OUTPUT}
  "/* Generated from the files of the tree; do not edit. */\n"
  "extern const char *const ${SYMBOL}[];\nconst char *const ${SYMBOL}[] = {\n${body}    0,\n};\n")
