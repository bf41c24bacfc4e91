// Package browser drives a headless Chromium for tests of pages. It has the build tag browser, because only some tests
// need a browser.
package browser
