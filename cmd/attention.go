package cmd

import (
	"fmt"

	"leasehold/models"
)

// sayAttention prints the attention items, the worst first, each with what to do; nothing if there are none.
func (a *app) sayAttention(items []models.Attention) error {
	for _, i := range items {
		if _, err := sayf(a.out, "%s since %s: %s\n", i.Severity, when(i.Since), i.Text); err != nil {
			return err
		}
		if i.Detail != "" {
			if _, err := sayf(a.out, "  %s\n", i.Detail); err != nil {
				return err
			}
		}
		if _, err := sayf(a.out, "  run: %s\n", i.Command); err != nil {
			return err
		}
	}
	if len(items) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(a.out)
	return err
}

// checkAttention fails if an item stops work.
func checkAttention(items []models.Attention) error {
	n := 0
	for _, i := range items {
		if i.Severity == models.StopsWork {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s stops work: %s", count(n, "cause"), items[0].Text)
}
