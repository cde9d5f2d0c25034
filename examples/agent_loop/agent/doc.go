// Package agent is what an agent with a real model would keep of this example:
// the loop around the model, and the desk whose tools it calls. Setup binds tools,
// policies and whoever is asked for consent.
package agent
