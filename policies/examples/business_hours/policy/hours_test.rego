package ambit.policies.hours_test

import data.ambit.policies.hours

at(effect, text) := {"tool": {"effect": effect}, "now_ns": time.parse_rfc3339_ns(text)}

test_open_on_a_monday_morning if {
	count(hours.deny) == 0 with input as at("write", "2026-03-02T09:00:00+01:00")
}

test_closed_before_nine if {
	some denial in hours.deny with input as at("write", "2026-03-02T08:59:59+01:00")
	denial.code == "closed"
}

test_closed_at_five if {
	count(hours.deny) == 1 with input as at("destructive", "2026-03-02T17:00:00+01:00")
}

test_closed_on_sundays if {
	count(hours.deny) == 1 with input as at("write", "2026-03-01T12:00:00+01:00")
}

# In summer the same instant of the day is an hour later.
test_summer_time if {
	count(hours.deny) == 0 with input as at("write", "2026-07-06T07:00:00Z")
}

test_reading_is_always_possible if {
	count(hours.deny) == 0 with input as at("read", "2026-03-01T03:00:00Z")
}
