package ambit.tools.mail_send_test

import data.ambit.tools.mail_send

before := time.parse_rfc3339_ns("2026-06-30T23:59:59Z")

end := time.parse_rfc3339_ns("2026-07-01T00:00:00Z")

codes(to, now) := {denial.code | some denial in mail_send.deny with input as {"args": {"to": to}, "now_ns": now}}

allowed(to, now) if count(mail_send.allow) == 1 with input as {"args": {"to": to}, "now_ns": now}

test_company if {
	codes(["ada@example.com", "Bob@EXAMPLE.com"], end) == set()
	allowed(["ada@example.com"], end)
}

test_exception_lasts_until_its_end if {
	codes(["eve@partner.example"], before) == set()
	codes(["eve@partner.example"], end) == {"foreign_domain"}
}

test_one_foreign_recipient_is_enough if {
	codes(["ada@example.com", "eve@elsewhere.example"], before) == {"foreign_domain"}
	not allowed(["ada@example.com", "eve@elsewhere.example"], before)
}

test_domains_that_look_like_ours if {
	codes(["ada@notexample.com"], before) == {"foreign_domain"}
	codes(["ada@example.com.evil.example"], before) == {"foreign_domain"}
	codes(["ada@mail.example.com"], before) == {"foreign_domain"}
}

test_nobody if codes([], before) == {"no_recipient"}
