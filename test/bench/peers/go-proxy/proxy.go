// Go's own reverse proxy: the least that a Go gateway can do. Arguments: the address to listen on and the engine's URL.
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	engine, err := url.Parse(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 1024
	proxy := httputil.NewSingleHostReverseProxy(engine)
	proxy.Transport = transport
	log.Fatal(http.ListenAndServe(os.Args[1], proxy))
}
