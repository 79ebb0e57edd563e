/* The verbs of kz-room. */
#ifndef KZ_BIN_KZ_ROOM_VERBS_H
#define KZ_BIN_KZ_ROOM_VERBS_H

#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/room/room.h"

#define KZ_INIT_SYNOPSIS "[--db FILE]"
#define KZ_MEMBER_SYNOPSIS "[--db FILE] MEMBER"
#define KZ_PROJECT_SYNOPSIS "[--db FILE] [--leave] PROJECT MEMBER"
#define KZ_CREATE_SYNOPSIS "[--db FILE] [--private | --project PROJECT] ROOM OWNER"
#define KZ_JOIN_SYNOPSIS "[--db FILE] [-n] ROOM MEMBER"
#define KZ_LEAVE_SYNOPSIS "[--db FILE] ROOM MEMBER"
#define KZ_UPLOAD_SYNOPSIS                                                                         \
	"[--db FILE] [--name NAME] [--of DOCUMENT] [--kind KIND] [--state STATE] MEMBER FILE"
#define KZ_STATE_SYNOPSIS "[--db FILE] DOCUMENT STATE"
#define KZ_LINK_SYNOPSIS "[--db FILE] ROOM DOCUMENT MEMBER"
#define KZ_SELECT_SYNOPSIS "[--db FILE] ROOM MEMBER [DOCUMENT...]"
#define KZ_FILE_SYNOPSIS "[--db FILE] [--private] PROJECT DOCUMENT MEMBER"
#define KZ_WITHDRAW_SYNOPSIS "[--db FILE] PROJECT DOCUMENT MEMBER"
#define KZ_GRANT_SYNOPSIS "[--db FILE] [--right RIGHT] PROJECT DOCUMENT READER"
#define KZ_TURN_SYNOPSIS "[--db FILE] [--request ID]... [--retrieved DOCUMENT]... ROOM MEMBER"
#define KZ_SCOPE_SYNOPSIS "[--db FILE] [--life SECONDS] TURN"
#define KZ_AUDIENCE_SYNOPSIS "[--db FILE] ROOM"
#define KZ_OUTPUTS_SYNOPSIS "[--db FILE] [-d OUTDIR | --accept | --drop] TURN"
#define KZ_JOURNAL_SYNOPSIS "[--db FILE] ROOM"
#define KZ_INIT_WHAT                                                                               \
	"make the database, the key and the directory of documents; print the public key"
#define KZ_MEMBER_WHAT "add a member"
#define KZ_PROJECT_WHAT "add a member to a Project, which is made when it is not there"
#define KZ_CREATE_WHAT "make a room, or a private chat, of its owner"
#define KZ_JOIN_WHAT "add a member to a room"
#define KZ_LEAVE_WHAT "take a member out of a room"
#define KZ_UPLOAD_WHAT "take a file into a member's library"
#define KZ_STATE_WHAT "make a document ready, processing, failed or unreadable"
#define KZ_LINK_WHAT "file a document of a member into a room"
#define KZ_UNLINK_WHAT "take a document that the member filed out of a room"
#define KZ_SELECT_WHAT "set a member's private selection in a room"
#define KZ_FILE_WHAT "file a document in a Project, shared or private"
#define KZ_WITHDRAW_WHAT "end what the member filed in a Project"
#define KZ_GRANT_WHAT "may this reader read what was filed in a Project"
#define KZ_TURN_WHAT "begin a turn: keep what it is admitted with"
#define KZ_SCOPE_WHAT "print the scope document of a turn, signed"
#define KZ_AUDIENCE_WHAT "print who can see a room now, and its files"
#define KZ_OUTPUTS_WHAT "link the outputs of a turn's run, whose record comes on standard input"
#define KZ_JOURNAL_WHAT "print what happened in a room"

int kz_verb_init(struct kz_cli *cli, int argc, char **argv);
int kz_verb_member(struct kz_cli *cli, int argc, char **argv);
int kz_verb_project(struct kz_cli *cli, int argc, char **argv);
int kz_verb_create(struct kz_cli *cli, int argc, char **argv);
int kz_verb_join(struct kz_cli *cli, int argc, char **argv);
int kz_verb_leave(struct kz_cli *cli, int argc, char **argv);
int kz_verb_upload(struct kz_cli *cli, int argc, char **argv);
int kz_verb_state(struct kz_cli *cli, int argc, char **argv);
int kz_verb_link(struct kz_cli *cli, int argc, char **argv);
int kz_verb_unlink(struct kz_cli *cli, int argc, char **argv);
int kz_verb_select(struct kz_cli *cli, int argc, char **argv);
int kz_verb_file(struct kz_cli *cli, int argc, char **argv);
int kz_verb_withdraw(struct kz_cli *cli, int argc, char **argv);
int kz_verb_grant(struct kz_cli *cli, int argc, char **argv);
int kz_verb_turn(struct kz_cli *cli, int argc, char **argv);
int kz_verb_scope(struct kz_cli *cli, int argc, char **argv);
int kz_verb_audience(struct kz_cli *cli, int argc, char **argv);
int kz_verb_outputs(struct kz_cli *cli, int argc, char **argv);
int kz_verb_journal(struct kz_cli *cli, int argc, char **argv);

#define KZ_ROOM_OPT_DB(db)                                                                         \
	{                                                                                          \
		0, "db", KZ_OPT_TEXT, (db), "FILE", "the database (default: KZ_ROOM_DB)", 0, 0     \
	}
/* One call of a verb: what it was given, and what came of it. */
struct kz_room_call {
	struct kz_cli *cli;
	const char *db;       /* what --db has set, else the environment's */
	struct kz_room *room; /* open between start and finish */
	char **word;          /* operands */
	struct kz_json *out;  /* what to print as a line, or NULL */
	enum kz_rc rc;
};
/* Parse, and open the database. in: u: without options of its own it has --db alone. out: false: there is nothing to do but finish */
bool kz_room_start(struct kz_room_call *c, const struct kz_usage *u, int argc, char **argv);
/* Print what there is, close, and end. returns the exit status */
int kz_room_finish(struct kz_room_call *c);
/* Warn of the derived_private of a change, which may be NULL [PRJ-53]. */
void kz_room_warn(const struct kz_json *change);

#endif
