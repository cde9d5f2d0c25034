# METADATA
# description: Messages go to the harbour office and nowhere else, so all of them may be sent.
package ambit.tools.message_send

allow contains {"code": "office", "message": "the office may be told"}
