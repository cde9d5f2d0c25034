package refunds

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate
