package ambit.tools.wait

allow contains {"code": "checkout", "message": "the checkout may be looked at"}
