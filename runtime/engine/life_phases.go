package engine

import "github.com/ambit-tools/ambit/runtime/internal/lifecycle"

// lifePhases holds the phase of the state machine for each phase.
var lifePhases = [...]lifecycle.Phase{
	0: lifecycle.Idle, phasePreparing: lifecycle.Preparing, phaseDeciding: lifecycle.Deciding, phaseAdmitting: lifecycle.Admitting,
	phaseQueued: lifecycle.Queued, phasePreviewing: lifecycle.Previewing, phaseWaiting: lifecycle.Waiting, phaseHeld: lifecycle.Held,
	phaseRunning: lifecycle.Running, phaseGrace: lifecycle.Grace, phaseFinishing: lifecycle.Finishing, phaseEnding: lifecycle.Decided,
	phaseBackoff: lifecycle.Backoff, phaseCommitting: lifecycle.Committing,
}
