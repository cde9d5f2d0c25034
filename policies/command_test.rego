package ambit.command_test

run(argv) := {"tool": {"name": "git", "effect": "read"}, "command": {"argv": argv}}

begins(argv, prefix) if data.ambit.command.starts_with(prefix) with input as run(argv)

test_whole_arguments_are_compared if {
	begins(["git", "push", "--force"], ["git", "push"])
	begins(["git", "push"], ["git", "push"])
	begins(["git", "push"], ["git"])
	not begins(["git", "pushy"], ["git", "push"])
	not begins(["git push"], ["git", "push"])
	not begins(["/opt/git", "push"], ["git"])
}

test_a_longer_list_is_no_beginning if not begins(["git"], ["git", "push"])

test_a_text_is_no_list if not begins(["git"], "git")

test_an_empty_list_begins_each_command if begins(["git"], [])

test_a_tool_without_a_command_begins_with_nothing if {
	not data.ambit.command.starts_with([]) with input as {"tool": {"name": "read", "effect": "read"}}
}
