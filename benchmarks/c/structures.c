/* Structures with malloc'ed nodes and growing arrays, built inside the call, as a C programmer would write them.
   NAME_f is the value, NAME_g value and gradient by x. */
#include <math.h>
#include <stdlib.h>
#define NI __attribute__((noinline))

typedef struct Node { double value; struct Node *next; } Node;
NI static Node *chain_of(double x, long n) {
  Node *head = NULL;
  for (long i = 0; i < n; i++) { Node *node = malloc(sizeof *node); node->value = x + 0.001 * i; node->next = head; head = node; }
  return head;
}
NI static void chain_free(Node *node) { while (node) { Node *next = node->next; free(node); node = next; } }
NI static double fold(const Node *node, double x) { return node ? sin(node->value) * x + 0.999 * fold(node->next, x) : 0.0; }
/* The adjoint runs on the way back: c is the cotangent of fold(node). */
NI static double fold_g(const Node *node, double x, double c, double *gx, double *gvalues) {
  if (!node) return 0.0;
  double rest = fold_g(node->next, x, 0.999 * c, gx, gvalues + 1);
  *gx += c * sin(node->value);
  *gvalues = c * x * cos(node->value);
  return sin(node->value) * x + 0.999 * rest;
}
double fold_f(double x, long n) { Node *head = chain_of(x, n); double r = fold(head, x); chain_free(head); return r; }
double fold_grad(double x, long n, double *gx) {
  Node *head = chain_of(x, n);
  double *gvalues = malloc(n * sizeof *gvalues), total = 0.0;
  double r = fold_g(head, x, 1.0, &total, gvalues);
  for (long i = 0; i < n; i++) total += gvalues[i];
  *gx = total;
  free(gvalues); chain_free(head);
  return r;
}

typedef struct Tree { double value; struct Tree *left, *right; } Tree;
NI static Tree *tree_of(double x, long depth) {
  Tree *t = malloc(sizeof *t);
  t->value = x / (depth + 1.0);
  t->left = depth ? tree_of(x * 0.9, depth - 1) : NULL;
  t->right = depth ? tree_of(x * 1.1, depth - 1) : NULL;
  return t;
}
NI static void tree_free(Tree *t) { if (!t) return; tree_free(t->left); tree_free(t->right); free(t); }
NI static double tree_fold(const Tree *t) { return t ? t->value + 0.5 * tanh(tree_fold(t->left) * tree_fold(t->right)) : 0.3; }
double tree_f(double x, long depth) { Tree *t = tree_of(x, depth); double r = tree_fold(t); tree_free(t); return r; }
/* Forward results kept in the tree itself, then cotangents down, and the derivative of building on the way. */
typedef struct Kept { double value, l, r; struct Kept *left, *right; } Kept;
NI static Kept *kept_of(double x, long depth) {
  Kept *t = malloc(sizeof *t);
  t->value = x / (depth + 1.0);
  t->left = depth ? kept_of(x * 0.9, depth - 1) : NULL;
  t->right = depth ? kept_of(x * 1.1, depth - 1) : NULL;
  return t;
}
NI static double kept_fold(Kept *t) {
  if (!t) return 0.3;
  t->l = kept_fold(t->left); t->r = kept_fold(t->right);
  return t->value + 0.5 * tanh(t->l * t->r);
}
NI static double kept_back(Kept *t, double c, long depth) { /* the cotangent of the x that the node was built with */
  if (!t) return 0.0;
  double h = tanh(t->l * t->r), d = 0.5 * c * (1 - h * h), gx = c / (depth + 1.0);
  gx += 0.9 * kept_back(t->left, d * t->r, depth - 1) + 1.1 * kept_back(t->right, d * t->l, depth - 1);
  free(t);
  return gx;
}
double tree_grad(double x, long depth, double *gx) {
  Kept *t = kept_of(x, depth);
  double r = kept_fold(t);
  *gx = kept_back(t, 1.0, depth);
  return r;
}

typedef struct List { double *items; long length, capacity; } List;
static inline void append(List *l, double v) {
  if (l->length == l->capacity) { l->capacity = l->capacity ? 2 * l->capacity : 4; l->items = realloc(l->items, l->capacity * sizeof(double)); }
  l->items[l->length++] = v;
}
double append_f(double x, long n) {
  List l = {0};
  double v = 1.0, s = 0.0;
  for (long i = 0; i < n; i++) { v = v * x + 0.5; append(&l, v); }
  for (long i = 0; i < l.length; i++) s += l.items[i] * l.items[i];
  free(l.items);
  return s;
}
double append_grad(double x, long n, double *gx) {
  List l = {0};
  double v = 1.0, s = 0.0, c = 0.0, g = 0.0;
  for (long i = 0; i < n; i++) { v = v * x + 0.5; append(&l, v); }
  for (long i = 0; i < l.length; i++) s += l.items[i] * l.items[i];
  for (long i = n - 1; i >= 0; i--) { c += 2 * l.items[i]; g += c * (i ? l.items[i - 1] : 1.0); c *= x; }
  *gx = g;
  free(l.items);
  return s;
}
