#!/bin/sh
# Queues five tasks, and works on tasks of the action "square" until there are none for 2 s.
set -eu
api=http://${LEASEHOLD_HTTP:-127.0.0.1:7412}/api/v1
post() { curl -sS --fail-with-body -d "$2" "$api/$1"; }

for n in 1 2 3 4 '"five"'; do
  post tasks "{\"action\":\"square\",\"max_attempts\":1,\"data\":{\"n\":$n}}" >/dev/null
done
session=$(post sessions '{"serves":[{"action":"square","slots":1}]}' | jq -r .id)
trap 'curl -sS -X DELETE "$api/sessions/$session"' EXIT
while task=$(post "sessions/$session/claims" '{"wait":2}' | jq -ce '.items[0] // empty'); do
  claim=sessions/$session/claims/$(echo "$task" | jq -r .id) token=$(echo "$task" | jq .token)
  if result=$(echo "$task" | jq '.data.n * .data.n' 2>/dev/null); then
    post "$claim/resolve" "{\"token\":$token,\"result\":$result}" >/dev/null
    echo "$result"
  else
    post "$claim/release" "{\"token\":$token,\"error\":\"n is not a number\"}"
  fi
done
