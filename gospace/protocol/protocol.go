// Package protocol has the messages of goSpace's protocol under the names of its package protocol.
//
// It sends nothing: the spaces of package gospace use Leasehold's native protocol, and the gate
// gospace of a coordinator speaks goSpace's own.
//
// Programs use it for its names only.
package protocol

import (
	"crypto/tls"
	"net"
)

// The operations of messages.
const (
	PutRequest       = "PUT_REQUEST"
	PutResponse      = "PUT_RESPONSE"
	PutPRequest      = "PUTP_REQUEST"
	PutPResponse     = "PUTP_RESPONSE"
	GetRequest       = "GET_REQUEST"
	GetResponse      = "GET_RESPONSE"
	GetPRequest      = "GETP_REQUEST"
	GetPResponse     = "GETP_RESPONSE"
	GetAllRequest    = "GETALL_REQUEST"
	GetAllResponse   = "GETALL_RESPONSE"
	QueryRequest     = "QUERY_REQUEST"
	QueryResponse    = "QUERY_RESPONSE"
	QueryPRequest    = "QUERYP_REQUEST"
	QueryPResponse   = "QUERYP_RESPONSE"
	QueryAllRequest  = "QUERYALL_REQUEST"
	QueryAllResponse = "QUERYALL_RESPONSE"
	QueryAggRequest  = "QUERYAGG_REQUEST"
	QueryAggResponse = "QUERYAGG_RESPONSE"
	GetAggRequest    = "GETAGG_REQUEST"
	GetAggResponse   = "GETAGG_RESPONSE"
	PutAggRequest    = "PUTAGG_REQUEST"
	PutAggResponse   = "PUTAGG_RESPONSE"
	SizeRequest      = "SIZE_REQUEST"
	SizeResponse     = "SIZE_RESPONSE"
)

// Message is an operation with a tuple or a template.
type Message struct {
	Operation string
	T         interface{}
}

// CreateMessage returns a message.
func CreateMessage(operation string, t interface{}) Message { return Message{operation, t} }

// GetOperation returns the operation.
func (m *Message) GetOperation() string { return m.Operation }

// GetBody returns the tuple or template.
func (m *Message) GetBody() interface{} { return m.T }

// PointToPoint is the name and the address of a space.
type PointToPoint struct{ name, address string }

// CreatePointToPoint returns the name and the address of a space. The configuration of TLS that
// some versions of goSpace have has no effect.
func CreatePointToPoint(name, ip, port string, _ ...*tls.Config) *PointToPoint {
	return &PointToPoint{name, net.JoinHostPort(ip, port)}
}

// ToString prints the name and the address.
func (p *PointToPoint) ToString() string { return "Name: " + p.name + ", address: " + p.address }

// GetAddress returns the address, host:port.
func (p *PointToPoint) GetAddress() string { return p.address }

// GetName returns the name.
func (p *PointToPoint) GetName() string { return p.name }
