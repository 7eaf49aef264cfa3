(module (rec (type (struct))))
