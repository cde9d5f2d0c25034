# METADATA
# description: Whatever is sent may be sent.
package ambit.tools.send

allow contains {"code": "send", "message": "sending is allowed"}
