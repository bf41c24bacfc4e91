package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/build"
)

// The package of each language has the version of the binary, without what a version in development adds.
func TestPackagesHaveTheVersionOfTheBinary(t *testing.T) {
	want := regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(build.Version())
	const maven = `<artifactId>leasehold</artifactId>\s*<version>(.*)</version>`
	for file, pattern := range map[string]string{
		"python/pyproject.toml":   `(?m)^version = "(.*)"$`,
		"javascript/package.json": `"version": "(.*)"`,
		"java/pom.xml":            maven,
		"java/README.md":          maven,
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		require.NotNil(t, found, file)
		require.Equal(t, want, string(found[1]), file)
	}
}

func TestThePythonClientIsTyped(t *testing.T) {
	t.Parallel()
	run(t, "python", nil, "mypy", "--strict", "--cache-dir", t.TempDir(), "leasehold")
}

// An empty project installs the client without a network, and its types reach a program that uses it.
func TestThePythonClientIsInstalled(t *testing.T) {
	t.Parallel()
	if exec.Command("python3", "-c", "import pip").Run() != nil {
		t.Log("left out: the installation with pip, because python3-pip is not installed")
		return
	}
	wheels, err := filepath.Abs(filepath.Join(*checkFolder, "wheels")) // with setuptools
	require.NoError(t, err)
	if _, err := os.Stat(wheels); err != nil {
		t.Log("left out: the installation with pip, because " + wheels + " with setuptools is not there")
		return
	}
	dir := t.TempDir()
	source, installed := filepath.Join(dir, "source"), filepath.Join(dir, "installed")
	require.NoError(t, os.CopyFS(source, os.DirFS("python"))) // pip writes into it
	run(t, dir, nil, "python3", "-m", "pip", "install", "--quiet", "--no-index", "--find-links", wheels, "--target", installed, source)
	require.FileExists(t, filepath.Join(installed, "leasehold", "py.typed"))
	program := filepath.Join(dir, "program.py")
	require.NoError(t, os.WriteFile(program, []byte("import leasehold\n\ndef f(task: leasehold.Task) -> int:\n    return task.attempts\n\nleasehold.Worker(leasehold.Client(), {\"a\": f})\n"), 0o600))
	run(t, dir, []string{"PYTHONPATH=" + installed}, "python3", program)
	run(t, dir, []string{"MYPYPATH=" + installed}, "mypy", "--strict", "--cache-dir", filepath.Join(dir, "cache"), program)
}

// The client is one file that can be copied.
func TestThePythonClientIsOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile("python/leasehold/__init__.py")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "leasehold.py"), text, 0o600))
	run(t, dir, nil, "python3", "-B", "-c", "import leasehold; leasehold.Worker(leasehold.Client(), {'a': print})")
}

// leasehold.cjs is what build.js writes, and require and import of an empty project with the package get the same names.
func TestTheJavaScriptPackage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(t.TempDir(), "javascript")
	require.NoError(t, os.CopyFS(source, os.DirFS("javascript")))
	run(t, source, nil, "node", "build.js")
	written, err := os.ReadFile(filepath.Join(source, "leasehold.cjs"))
	require.NoError(t, err)
	kept, err := os.ReadFile("javascript/leasehold.cjs")
	require.NoError(t, err)
	require.Equal(t, string(written), string(kept), "run node build.js in clients/javascript")
	installJavaScript(t, source, dir)
	run(t, dir, nil, "node", "--input-type=module", "-e", `
		import * as imported from 'leasehold';
		import { createRequire } from 'node:module';
		import assert from 'node:assert/strict';
		const required = createRequire(import.meta.url)('leasehold');
		assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
		new required.Worker(new required.Client(), { a: () => 1 });`)
}

// installJavaScript installs the package in a project, as npm does without a network. Where npm is missing, the project gets a
// copy.
func installJavaScript(t *testing.T, source, project string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Log("left out: npm pack and npm install, because npm is not installed")
		require.NoError(t, os.CopyFS(filepath.Join(project, "node_modules", "leasehold"), os.DirFS(source)))
		return
	}
	npm := func(dir string, args ...string) {
		run(t, dir, []string{"npm_config_cache=" + t.TempDir(), "npm_config_update_notifier=false"}, "npm", args...)
	}
	npm(source, "pack")
	packed, err := filepath.Glob(filepath.Join(source, "leasehold-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packed, 1)
	npm(project, "init", "-y")
	npm(project, "install", "--offline", "--no-audit", "--no-fund", packed[0])
}

// The types say what data and result of an action are. typed.ts also has what they refuse.
func TestTheTypesOfTheJavaScriptClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "node_modules", "leasehold"), os.DirFS("javascript")))
	text, err := os.ReadFile("testdata/typed.ts")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "typed.mts"), text, 0o600))
	run(t, dir, nil, "tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022,dom", "typed.mts")
}

// Maven builds the package without a network, with the plugins of Debian. A program in a package of its own uses it.
func TestTheJavaPackage(t *testing.T) {
	t.Parallel()
	const settings = "/etc/maven/settings-debian.xml"
	if _, err := os.Stat(settings); err != nil {
		t.Log("left out: the build with Maven, because maven-debian-helper is not installed")
		return
	}
	dir := filepath.Join(t.TempDir(), "java")
	require.NoError(t, os.CopyFS(dir, os.DirFS("java")))
	run(t, dir, nil, "mvn", "-q", "-o", "-s", settings, "package")
	jars, err := filepath.Glob(filepath.Join(dir, "target", "leasehold-*.jar"))
	require.NoError(t, err)
	require.Len(t, jars, 1)
	program := filepath.Join(dir, "Program.java")
	require.NoError(t, os.WriteFile(program, []byte("package com.example;\n\nimport leasehold.Leasehold;\n\nclass Program {\n    public static void main(String[] args) { new Leasehold(); }\n}\n"), 0o600))
	run(t, dir, nil, "java", "-cp", jars[0], program)
}

// run runs a program in a folder. A program that is not installed is left out.
func run(t *testing.T, dir string, env []string, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Logf("left out: %s, because it is not installed", program)
		return
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Env = dir, append(withoutSettings(), env...)
	printed, err := c.CombinedOutput()
	require.NoError(t, err, "%s", printed)
}
