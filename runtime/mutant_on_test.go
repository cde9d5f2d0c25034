//go:build mutant_admission

package runtime_test

// mutantAdmission says that the package was built with the seeded bug.
const mutantAdmission = true
