// Package operate holds the verbs for a running application. They list its calls,
// requests, grants and artifacts, and send commands to its executor through the inbox.
package operate
