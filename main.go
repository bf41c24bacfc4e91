// Leasehold is a work system coordinated through tuple spaces: see README.md.
package main

func main() {}
