package ambit.tools.host_name

allow contains {"code": "checkout", "message": "the checkout may be looked at"}
