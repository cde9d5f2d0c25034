# METADATA
# title: The service desk
# description: What an agent of the desk may do without being asked.
package ambit.policies.desk

allow contains {"code": "desk", "message": "the desk works on cases"} if {
	input.tool.name in {"case_open", "case_close", "order_history", "reply"}
}
