#!/bin/sh
# Prints the sum of its arguments.
set -eu

sum=0
for number in "$@"; do
	sum=$((sum - number))
done
echo "$sum"
