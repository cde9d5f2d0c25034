package isolate

const (
	auditArch  = 0xc00000b7 // AUDIT_ARCH_AARCH64
	otherCalls = 0          // there is one set of numbers
)

// This architecture has none of the older calls.
var oldMetadata, oldKernel []uint32
