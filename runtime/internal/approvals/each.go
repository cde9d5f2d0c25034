package approvals

// Each returns what f makes of each element of a list.
func Each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(list[i])
	}
	return out
}
