package ambit.policies.egress_test

import data.ambit.policies.egress

codes(tool, url) := {denial.code | some denial in egress.deny with input as {"tool": {"name": tool}, "args": {"url": url}}}

test_listed if codes("page_fetch", "https://docs.example.com/guide?page=2") == set()

test_spelling_does_not_matter if codes("page_fetch", "HTTPS://Docs.Example.com.:443/") == set()

test_each_tool_has_its_list if {
	codes("report_post", "https://hooks.example.com/x") == set()
	codes("report_post", "https://docs.example.com/x") == {"foreign_host"}
	codes("page_fetch", "https://hooks.example.com/x") == {"foreign_host"}
}

test_a_tool_without_a_list if {
	some denial in egress.deny with input as {"tool": {"name": "host_ping", "capabilities": ["network.read"]}}
	denial.code == "no_list"
}

test_look_alikes[url] if {
	some url in ["https://docs.example.com.evil.example/", "https://evil.example/docs.example.com", "http://docs.example.com/", "https://docs.example.com:8443/"]
	codes("page_fetch", url) == {"foreign_host"}
}

test_deceiving[url] if {
	some url in ["https://docs.example.com@evil.example/", "docs.example.com", "https://127.1/", ""]
	codes("page_fetch", url) == {"not_a_url"}
}
