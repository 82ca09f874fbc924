#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Answers in place of a person when the demonstration has no terminal: the change log yes, all else no.
question=$(cat)
case $question in
*'/CHANGES"'*) echo '{"answer":"allow","scope":"once"}' ;;
*) echo '{"answer":"deny","scope":"once"}' ;;
esac
