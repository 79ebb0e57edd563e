/*
 * What lets a JavaScript program that is a file find modules that are inputs: it
 * stands in /work/code, they in the workspace, and node resolves ./NAME beside the
 * file.  A name that is not there is looked up in the workspace; nothing else changes.
 */
#include "core/run/source.h"

static const char text[] =
	"'use strict';\n"
	"const M = require('module'), path = require('path');\n"
	"const code = '" KZ_SOURCE_DIR "', space = '/work/space', old = M._resolveFilename;\n"
	"M._resolveFilename = function (name, parent, ...rest) {\n"
	"	try {\n"
	"		return old.call(this, name, parent, ...rest);\n"
	"	} catch (e) {\n"
	"		const from = parent && parent.filename && path.dirname(parent.filename);\n"
	"		if (e.code !== 'MODULE_NOT_FOUND' || from !== code || !/^\\.\\.?(\\/|$)/.test(name)) throw e;\n"
	"		try { return old.call(this, path.resolve(space, name), parent, ...rest); } catch (_) { throw e; }\n"
	"	}\n"
	"};\n"
	"const hook = `export async function resolve(name, at, next) {\n"
	"	try { return await next(name, at); } catch (e) {\n"
	"		if (!/^\\\\.\\\\.?\\\\//.test(name) || !String(at.parentURL).startsWith('file://${code}/')) throw e;\n"
	"		try { return await next(name, { ...at, parentURL: 'file://${space}/x' }); } catch (_) { throw e; }\n"
	"	}\n"
	"}`;\n"
	"const imports = () => {\n"
	"	try { return /\\bimport\\b/.test(require('fs').readFileSync(process.argv[1], 'utf8')); } catch (_) { return false; }\n"
	"};\n"
	"if (M.register && imports()) M.register('data:text/javascript,' + encodeURIComponent(hook));\n";

const char *kz_source_shim(const struct kz_source *s, size_t *n)
{
	if (s->text || s->language != KZ_LANG_NODE)
		return NULL;
	*n = sizeof(text) - 1;
	return text;
}
