# METADATA
# title: Egress allow-list
# description: |-
#   Tools reach the hosts of the list and no other, over https. Owned by the security team.
#   A policy decides by the URL: where a redirect leads, and which address a name has
#   when the handler connects, the handler checks itself.
# custom:
#   reasons:
#     foreign_host: The host is not on the list.
#     not_a_url: The URL is read in different ways, or by no client.
#     no_list: The tool uses the network and has no list of hosts.
package ambit.policies.egress

import data.egress

hosts := {"page_fetch": egress.read, "report_post": egress.write}

# A new tool that uses the network is denied until it is in the table: the rules below
# do not apply to a tool whose arguments they do not know.
deny contains {"code": "no_list", "message": "the tool has no list of hosts"} if {
	some capability in input.tool.capabilities
	startswith(capability, "network.")
	not hosts[input.tool.name]
}

# is_valid comes first: the other functions have no answer for a URL such as
# http://docs.example.com@evil.example/, and an error denies without a reason of ours.
deny contains {"code": "not_a_url", "message": "write an absolute URL without user info"} if not ambit.url.is_valid(url)

deny contains {"code": "foreign_host", "message": sprintf("%s is not on the list", [ambit.url.host(url)])} if {
	ambit.url.is_valid(url)
	not listed
}

listed if {
	ambit.url.scheme(url) == "https"
	ambit.url.port(url) == 443
	ambit.url.host(url) in hosts[input.tool.name]
}

# The body names the tools, so input.args has the arguments that both have.
url := input.args.url if input.tool.name in {"page_fetch", "report_post"}
