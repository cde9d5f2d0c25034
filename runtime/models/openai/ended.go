package openai

import (
	"fmt"

	"github.com/openai/openai-go/v3/responses"
)

// ended reports whether a response was cut off at its limit of tokens. The error says why a response
// failed, or ended otherwise than the model meant it to.
func ended(r *responses.Response) (cut bool, err error) {
	switch r.Status {
	case responses.ResponseStatusCompleted:
		return false, nil
	case responses.ResponseStatusFailed:
		return false, failed(string(r.Error.Code), r.Error.Message)
	case responses.ResponseStatusIncomplete:
		if reason := r.IncompleteDetails.Reason; reason != "" && reason != "max_output_tokens" {
			return false, fmt.Errorf("the response is incomplete, and none of its calls was made: %s", reason)
		}
		return true, nil
	}
	return false, fmt.Errorf("the response is %q and not complete: none of its calls was made", r.Status)
}

// failed is the error of a response that failed, or of an event that says so.
func failed(code, message string) error {
	return fmt.Errorf("the response failed, and none of its calls was made: %s: %s", code, message)
}
