# METADATA
# title: Mail domains
# description: |-
#   Mails go to the domains of the company, and to others as long as an exception lasts.
#   Exceptions are data: who adds one writes the day on which it ends.
# custom:
#   reasons:
#     foreign_domain: A recipient is neither of the company nor of an exception that lasts.
#     no_recipient: The mail is for nobody.
package ambit.tools.mail_send

import data.mail

allow contains {"code": "permitted", "message": "every recipient may be written to"} if {
	every address in input.args.to { permitted(address) }
}

# "every" holds for an empty list, also in the rule above.
deny contains {"code": "no_recipient", "message": "name a recipient"} if count(input.args.to) == 0

deny contains {"code": "foreign_domain", "message": sprintf("%s may not be written to", [address])} if {
	some address in input.args.to
	not permitted(address)
}

permitted(address) if domain(address) in mail.domains

permitted(address) if {
	some exception in mail.exceptions
	exception.domain == domain(address)
	input.now_ns < time.parse_rfc3339_ns(exception.until)
}

# A whole domain is compared: endswith(address, "example.com") passes ada@notexample.com.
domain(address) := lower(parts[count(parts) - 1]) if parts := split(address, "@")
