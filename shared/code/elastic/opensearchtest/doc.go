// Package opensearchtest gives tests a real search server: the one that TEST_ES_URL names, or a
// node of OpenSearch that it starts from the folder shared/opensearch beside the repository, on
// a free port and with its data in a temporary folder.
//
// A package has one such server for all of its tests. Its TestMain ends it:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(opensearchtest.Main(m)) }
//
// A node ends with the process of the tests, also if that is killed (on Linux). Where there is neither
// a server nor that folder nor Java, tests log that they are left out, and why; .ci/test repeats that
// in its summary.
package opensearchtest
