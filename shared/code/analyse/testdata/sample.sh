#!/bin/sh
# comment
greet() {
  if [ "$1" = "# text" ]; then echo hi; fi
}
function leave { exit; }
