// Command trivial is the least that a program with client-go can be: what berth's
// start is compared with.
package main

import (
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	if _, err := kubernetes.NewForConfig(&rest.Config{Host: "localhost"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
