package dns

import (
	"context"
	"net"
	"time"

	"github.com/miekg/dns"
)

// lookupTimeout is less than the five seconds that resolvers wait.
const lookupTimeout = 3 * time.Second

// ttl is short, because tests look at changes.
const ttl = 1

// Serve answers on the address, over UDP and TCP, until one of them fails.
func Serve(address string, api API) error {
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
		defer cancel()
		_ = w.WriteMsg(answer(ctx, api, query))
	})
	failed := make(chan error)
	for _, network := range []string{"udp", "tcp"} {
		server := &dns.Server{Addr: address, Net: network, Handler: handler}
		go func() { failed <- server.ListenAndServe() }()
	}
	return <-failed
}

func answer(ctx context.Context, api API, query *dns.Msg) *dns.Msg {
	reply := new(dns.Msg).SetReply(query)
	reply.RecursionAvailable = true
	if len(query.Question) != 1 {
		reply.Rcode = dns.RcodeFormatError
		return reply
	}
	question := query.Question[0]
	found, err := lookup(ctx, api, question.Name)
	switch {
	case err != nil && exists(err):
		reply.Rcode = dns.RcodeServerFailure
	case err != nil:
		reply.Rcode = dns.RcodeNameError
	default:
		reply.Authoritative = true
		reply.Answer = found.answer(question)
	}
	return reply
}

func (r records) answer(question dns.Question) []dns.RR {
	header := dns.RR_Header{Name: question.Name, Class: dns.ClassINET, Ttl: ttl}
	if r.alias != "" {
		header.Rrtype = dns.TypeCNAME
		return []dns.RR{&dns.CNAME{Hdr: header, Target: r.alias}}
	}
	var answers []dns.RR
	for _, ip := range r.addresses {
		if rr := address(header, question.Qtype, ip); rr != nil {
			answers = append(answers, rr)
		}
	}
	return answers
}

// address makes a record of the type asked for; nil if the address is of the
// other family.
func address(header dns.RR_Header, kind uint16, ip net.IP) dns.RR {
	v4 := ip.To4()
	header.Rrtype = kind
	switch {
	case kind == dns.TypeA && v4 != nil:
		return &dns.A{Hdr: header, A: v4}
	case kind == dns.TypeAAAA && v4 == nil:
		return &dns.AAAA{Hdr: header, AAAA: ip}
	}
	return nil
}
