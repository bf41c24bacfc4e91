package models

import (
	"fmt"
	"strconv"
	"strings"
)

// Health is how many attention items stop work, and how many degrade it.
type Health struct{ Stops, Degrades int }

// HealthOf counts the items.
func HealthOf(items []Attention) (h Health) {
	for _, i := range items {
		switch i.Severity {
		case StopsWork:
			h.Stops++
		case Degrades:
			h.Degrades++
		}
	}
	return h
}

// Sentence tells the health to people: "Two things stop work, one degrades it."
func (h Health) Sentence() string {
	switch {
	case h.Stops > 0 && h.Degrades > 0:
		return fmt.Sprintf("%s, %s it.", things(h.Stops, "stop"), strings.ToLower(spelled(h.Degrades))+" "+verb(h.Degrades, "degrade"))
	case h.Stops > 0:
		return things(h.Stops, "stop") + "."
	case h.Degrades > 0:
		return things(h.Degrades, "degrade") + "."
	}
	return "All work goes on."
}

// things returns such as "One thing stops work" and "Two things stop work".
func things(n int, does string) string {
	noun := "things"
	if n == 1 {
		noun = "thing"
	}
	return spelled(n) + " " + noun + " " + verb(n, does) + " work"
}

// verb returns the form of a verb that goes with a number.
func verb(n int, does string) string {
	if n == 1 {
		return does + "s"
	}
	return does
}

// smallNumbers are the words for numbers that begin a sentence.
var smallNumbers = []string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"}

// spelled returns a number that begins a sentence, up to ten as a word.
func spelled(n int) string {
	if n < len(smallNumbers) {
		return smallNumbers[n]
	}
	return strconv.Itoa(n)
}
