package anthropic

import (
	"errors"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// maxPauses is how often the model may pause one answer.
const maxPauses = 10

// errPaused says that the model paused its answer more often than that.
var errPaused = fmt.Errorf("the model paused its answer more than %d times (pause_turn)", maxPauses)

// paused reports whether the API has paused the turn of the model, after long work of its own tools: the
// model goes on when the message is sent back as it is.
func paused(m *sdk.Message) bool { return m.StopReason == sdk.StopReasonPauseTurn }

// ended reports whether a message was cut off before its calls were whole. The error says why the model
// ended the message otherwise than it meant to.
func ended(m *sdk.Message) (cut bool, err error) {
	calls := false
	for _, block := range m.Content {
		calls = calls || block.Type == "tool_use"
	}
	switch m.StopReason {
	case sdk.StopReasonToolUse, sdk.StopReasonEndTurn:
		return false, nil
	case sdk.StopReasonMaxTokens:
		return true, nil
	case sdk.StopReasonStopSequence: // the program has asked for it, but not within a call
		return calls, nil
	case sdk.StopReasonPauseTurn:
		if calls {
			return false, errors.New("the model paused its answer at calls of the program (pause_turn): none of them was made")
		}
		return false, nil
	case sdk.StopReasonRefusal:
		return false, fmt.Errorf("the model refused to answer (refusal), and none of its calls was made: %s %s", m.StopDetails.Category, m.StopDetails.Explanation)
	}
	return false, fmt.Errorf("the model ended its answer abnormally, and none of its calls was made: %s", m.StopReason)
}
