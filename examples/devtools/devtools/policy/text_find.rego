package ambit.tools.text_find

allow contains {"code": "checkout", "message": "the checkout may be looked at"}
