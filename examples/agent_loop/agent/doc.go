// Package agent is what an agent with a real model would keep of this example:
// the loop around the model, and the desk whose tools it calls. Setup binds the
// tools, the policies and, by its options, the approver.
package agent
