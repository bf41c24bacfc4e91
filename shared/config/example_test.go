package config_test

import (
	"fmt"

	"github.com/spf13/pflag"

	"leasehold/shared/config"
)

func ExampleLoad() {
	flags := pflag.NewFlagSet("leasehold", pflag.ContinueOnError)
	config.BindFlags(flags, config.Keys()...)
	_ = flags.Parse([]string{"--data=/tmp/x", "--mode=wroker"})
	_, err := config.Load(flags)
	fmt.Println(err)
	// Output: --mode: mode must be coordinator, manager or worker; got "wroker" (did you mean worker?)
}
