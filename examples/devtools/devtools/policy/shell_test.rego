package ambit.tools.shell_test

import data.ambit.tools.shell

test_in_a_box if shell.deny == set() with input as {"command": {"tier": "sandbox"}}

test_without_a_box if count(shell.deny) == 1 with input as {"command": {"tier": "process"}}
