package genai

import (
	"fmt"

	sdk "google.golang.org/genai"
)

// ended reports whether an answer was cut off at its limit of tokens. The error says why an answer
// ended otherwise than the model meant it to.
func ended(c *sdk.Candidate) (cut bool, err error) {
	switch c.FinishReason {
	case sdk.FinishReasonStop:
		return false, nil
	case sdk.FinishReasonMaxTokens:
		return true, nil
	}
	reason := string(c.FinishReason)
	if reason == "" {
		reason = "no reason is given"
	}
	return false, fmt.Errorf("the model ended its answer abnormally, and none of its calls was made: %s", with(reason, c.FinishMessage))
}

// unanswered says why there is no answer.
func unanswered(f *sdk.GenerateContentResponsePromptFeedback) error {
	if f == nil || f.BlockReason == "" {
		return errNoAnswer
	}
	return fmt.Errorf("the provider blocked the conversation: %s", with(string(f.BlockReason), f.BlockReasonMessage))
}

func with(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + message
}
