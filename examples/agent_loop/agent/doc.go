// Package agent is what an agent with a real model would keep of this example: the
// desk whose tools the model calls, and what shows the conversation. Setup binds the tools,
// the policies and, by its options, the approver.
package agent
