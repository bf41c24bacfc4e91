// Package pspace is the gate for programs that speak JSON in the dialects of the pSpaces
// project: jSpace and SwiftSpace, and as far as they are described SpaceJS and dotSpace
// (docs/interop.md). A request is one JSON object; jSpace ends it with a newline, others
// with nothing.
//
//	> {"messageType":"PUT_REQUEST","target":"fridge","clientSession":"0",
//	   "tuple":[{"type":"pspace:string","value":"milk"},{"type":"pspace:int","value":2}]}
//	< {"messageType":"PUT_RESPONSE","status":true,"statusCode":"200","statusMessage":"OK","clientSession":"0"}
//
// A request with a session may be one of many on its connection, and answers come in any
// order. After one without a session, the gate closes the connection, because such a
// client uses one connection for each operation.
//
// Invariants: every request gets one answer with its session, also a refused one, because the client waits
// without a limit. A type's name is never resolved: a value of an unknown type is kept as its name and its JSON
// (tuple.Opaque). If a message is not JSON, too large or nested too deep, it gets one answer, stores nothing, and
// its connection ends. Package foreign decides what happens to a tuple whose answer is lost.
package pspace
